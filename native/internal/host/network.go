package host

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Network is a namespace of its own with one interface, eth0, whose other end is on the host.
type Network struct {
	Veth    string `json:"veth"`    // name of the host's end, unique on the host, at most 15 characters
	Address string `json:"address"` // CIDR of eth0
	Gateway string `json:"gateway"` // address of the host's end
	// RouteLocalnet lets the host hand the sandbox's DNS to a resolver on its own loopback.
	RouteLocalnet bool `json:"routeLocalnet"`
}

// MakeNamespace makes a network namespace, held by a bind mount at path in the caller's private mount namespace, and
// connects it if network is set. Rules of the host apply to the interface's name before it exists, so nothing gets out
// before them.
func MakeNamespace(path string, network *Network) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	result := make(chan error, 1)
	go func() {
		// Never unlocked: the thread is in the new namespace and ends with this goroutine.
		runtime.LockOSThread()
		result <- buildNamespace(path, network)
	}()
	if err := <-result; err != nil || network == nil {
		return err
	}
	return configureHostEnd(network)
}

func buildNamespace(path string, network *Network) error {
	host, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer host.Close()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("hold the network namespace: %w", err)
	}
	links, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer links.Close()
	loopback, err := links.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := links.LinkSetUp(loopback); err != nil {
		return err
	}
	if network == nil {
		return nil
	}
	return connect(links, int(host.Fd()), network)
}

func connect(links *netlink.Handle, host int, network *Network) error {
	address, err := netlink.ParseAddr(network.Address)
	if err != nil {
		return err
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "eth0"
	veth := &netlink.Veth{LinkAttrs: attributes, PeerName: network.Veth, PeerNamespace: netlink.NsFd(host)}
	if err := links.LinkAdd(veth); err != nil {
		return fmt.Errorf("make veth %s: %w", network.Veth, err)
	}
	inner, err := links.LinkByName("eth0")
	if err != nil {
		return err
	}
	if err := links.AddrAdd(inner, address); err != nil {
		return err
	}
	if err := links.LinkSetUp(inner); err != nil {
		return err
	}
	return links.RouteAdd(&netlink.Route{LinkIndex: inner.Attrs().Index, Gw: net.ParseIP(network.Gateway)})
}

// configureHostEnd runs outside the locked thread: /proc/sys/net is that of the thread which opens it.
func configureHostEnd(network *Network) error {
	link, err := netlink.LinkByName(network.Veth)
	if err != nil {
		return err
	}
	// No IPv6 at all: sandboxes have none, and link-local addresses would be a way to the host around the rules.
	if err := writeSysctl("ipv6/conf/"+network.Veth+"/disable_ipv6", "1"); err != nil && !os.IsNotExist(err) {
		return err
	}
	// Strict: a packet with an address that is not this sandbox's own goes nowhere.
	if err := writeSysctl("ipv4/conf/"+network.Veth+"/rp_filter", "1"); err != nil {
		return err
	}
	if network.RouteLocalnet {
		if err := writeSysctl("ipv4/conf/"+network.Veth+"/route_localnet", "1"); err != nil {
			return err
		}
	}
	address, err := netlink.ParseAddr(network.Address)
	if err != nil {
		return err
	}
	gateway := &net.IPNet{IP: net.ParseIP(network.Gateway), Mask: address.Mask}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: gateway}); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

func writeSysctl(name, value string) error {
	return os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o644)
}

// DropNamespace frees the interface and the namespace. What isn't there is no error.
func DropNamespace(path string, network *Network) error {
	var errs []error
	if network != nil {
		if link, err := netlink.LinkByName(network.Veth); err == nil {
			errs = append(errs, ignoreGone(netlink.LinkDel(link)))
		}
	}
	if err := unmount(path); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
