package host

import (
	"slices"
	"testing"
)

const mountinfo = `22 1 254:0 / / rw - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
30 22 7:0 / /var/lib/torpor/pool rw - xfs /dev/loop0 rw
31 22 7:1 / /tmp/other/pool rw - xfs /dev/loop1 rw
32 31 0:50 / /tmp/other/pool/in\040side rw - ext4 /dev/loop2 rw
33 22 0:4 net:[4026532] /run/netns/a rw - nsfs nsfs rw
35 22 7:4 / /usr rw - squashfs /dev/loop4 rw
36 22 7:5 / /var/lib rw - ext4 /dev/loop5 rw
34 22 7:3 / /var/lib/torpor2/pool rw - xfs /dev/loop3 rw
broken line
`

func TestForeignMountsAreThoseOfOthersInnermostFirst(t *testing.T) {
	got := foreignMounts(mountinfo, "/var/lib/torpor")
	want := []string{"/var/lib/torpor2/pool", "/run/netns/a", "/tmp/other/pool/in side", "/tmp/other/pool"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
