package users

// Names remembers the names of ids for the length of one call, so that a listing reads the files once an owner.
type Names struct {
	db     Database
	users  map[uint32]string
	groups map[uint32]string
}

// Names starts remembering.
func (d Database) Names() *Names {
	return &Names{d, map[uint32]string{}, map[uint32]string{}}
}

// User gives the name of an account.
func (n *Names) User(uid uint32) string { return remember(n.users, uid, n.db.UserName) }

// Group gives the name of a group.
func (n *Names) Group(gid uint32) string { return remember(n.groups, gid, n.db.GroupName) }

func remember(known map[uint32]string, id uint32, find func(uint32) string) string {
	name, ok := known[id]
	if !ok {
		name = find(id)
		known[id] = name
	}
	return name
}
