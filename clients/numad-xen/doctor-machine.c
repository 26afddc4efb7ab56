/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "doctor.h"

#include "lib/io/file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CAPABILITIES "/proc/xen/capabilities"
#define PRIVCMD "/dev/xen/privcmd"
#define POLICY "/org.numadxen.NumadXen1.conf"

static bool check_dom0(CheckList *checks)
{
    static const char fix[] = "boot Xen and run this in dom0; numad-xend --host FILE shows a simulated host";
    _cleanup_free_ char *text = NULL;
    bool dom0 = false;
    size_t size;
    int r;

    r = file_read(CAPABILITIES, 4096, &text, &size);
    if (r < 0)
        check_list_add(checks, "dom0", false, fix, "this is no Xen host, or /proc/xen is not mounted: %s: %s",
                       CAPABILITIES, strerror(-r));
    else if (!strstr(text, "control_d"))
        check_list_add(checks, "dom0", false, fix, "this is a guest, not dom0");
    else {
        check_list_add(checks, "dom0", true, NULL, "this is dom0");
        dom0 = true;
    }
    return dom0;
}

/* A module cannot help where there is no dom0 to load it. */
static void check_privcmd(CheckList *checks, bool dom0)
{
    const char *fix = dom0 ? "modprobe xen_privcmd" : "it comes with dom0: see to the check dom0 first";
    int fd;

    if (geteuid() != 0) {
        if (access(PRIVCMD, F_OK) < 0)
            check_list_add(checks, "privcmd", false, fix, "%s: %s", PRIVCMD, strerror(errno));
        else
            check_list_add(checks, "privcmd", true, NULL, "%s is there (root can say more)", PRIVCMD);
        return;
    }
    fd = open(PRIVCMD, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        check_list_add(checks, "privcmd", false, fix, "%s: %s", PRIVCMD, strerror(errno));
        return;
    }
    close(fd);
    check_list_add(checks, "privcmd", true, NULL, "%s can be opened", PRIVCMD);
}

void doctor_check_machine(CheckList *checks)
{
    check_privcmd(checks, check_dom0(checks));
}

void doctor_check_policy(CheckList *checks)
{
    static const char *const paths[] = {DBUSSYSTEMDIR POLICY, "/etc/dbus-1/system.d" POLICY,
                                        "/usr/share/dbus-1/system.d" POLICY};

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        if (access(paths[i], F_OK) == 0) {
            check_list_add(checks, "bus-policy", true, NULL, "the bus policy is installed: %s", paths[i]);
            return;
        }
    check_list_add(checks, "bus-policy", false, "install numad-xen (make install), then: systemctl reload dbus",
                   "the bus policy is not installed: %s", paths[0]);
}
