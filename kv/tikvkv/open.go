package tikvkv

import (
	"context"
	"errors"
	"fmt"

	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/tikv"
	pd "github.com/tikv/pd/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/minidb/minidb/kv"
)

// Open connects to a cluster. It writes nothing.
func Open(ctx context.Context, o Options) (*Engine, error) {
	quiet()
	e := newEngine(o)
	store, err := e.connect()
	if err != nil {
		return nil, err
	}
	if err := e.start(ctx, store); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// connect opens what client-go needs: connections to PD, to the etcd in it where TiDB keeps the
// safepoint of the cluster, and to the stores. They are not those of client-go's own configuration,
// which is one for the process.
func (e *Engine) connect() (*tikv.KVStore, error) {
	security := config.NewSecurity(e.o.CA, e.o.Cert, e.o.Key, nil)
	secure, err := security.ToTLSConfig()
	if err != nil {
		return nil, fmt.Errorf("tikvkv: %w", err)
	}
	tries := max(1, int(e.o.Patience.Seconds()))
	raw, err := pd.NewClient(e.o.Endpoints, pd.SecurityOption{CAPath: e.o.CA, CertPath: e.o.Cert,
		KeyPath: e.o.Key}, pd.WithMaxErrorRetry(tries), pd.WithCustomTimeoutOption(e.o.Try),
		pd.WithGRPCDialOptions(grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: e.o.Try, Timeout: e.o.Try})))
	if err != nil {
		return nil, fmt.Errorf("%w: PD at %v: %v", kv.ErrUnavailable, e.o.Endpoints, err)
	}
	driver := tikv.NewCodecPDClient(tikv.ModeTxn, raw)
	safepoints, err := tikv.NewEtcdSafePointKV(e.o.Endpoints, secure)
	if err != nil {
		driver.Close()
		return nil, fmt.Errorf("tikvkv: %w", err)
	}
	stores := &client{e: e, Client: tikv.NewRPCClient(tikv.WithSecurity(security),
		tikv.WithCodec(driver.GetCodec()))}
	name := fmt.Sprint("tikv-", driver.GetClusterID(context.Background()))
	store, err := tikv.NewKVStore(name, driver, safepoints, stores)
	if err != nil {
		driver.Close()
		return nil, errors.Join(fmt.Errorf("%w: %v", kv.ErrUnavailable, err), safepoints.Close(),
			stores.Close())
	}
	return store, nil
}
