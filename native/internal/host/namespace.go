package host

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// DropForeignMounts takes out of the caller's own mount namespace what it would pin without any use: network namespaces and
// loop-mounted file systems that are not below `keep`. Where the host's root is no shared mount (no systemd), an unmount by its
// owner would not reach this namespace, and the owner's loop device or namespace would live as long as this process.
func DropForeignMounts(keep string) error {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for _, point := range foreignMounts(string(data), keep) {
		// One that its owner has just unmounted is gone already.
		_ = unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	}
	return nil
}

// foreignMounts reads mountinfo (proc(5)): … mount point … - type source …; the innermost first.
func foreignMounts(mountinfo, keep string) []string {
	var points []string
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		before, after := strings.Fields(left), strings.Fields(right)
		if !ok || len(before) < 5 || len(after) < 2 {
			continue
		}
		point := unescape.Replace(before[4])
		foreign := after[0] == "nsfs" || strings.HasPrefix(after[1], "/dev/loop")
		ours := below(point, keep) || below(keep, point)
		// The host itself may live on a loop device: /, /usr, /var stay.
		if foreign && !ours && strings.Count(point, "/") > 1 {
			points = append([]string{point}, points...)
		}
	}
	return points
}

func below(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
