package expr

// Connection is an optional interface of a Session: the ends of its client's connection, each an
// address and a port as net.JoinHostPort writes them, or "" where there is no network.
type Connection interface {
	ClientAddress() string
	ServerAddress() string
}
