package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/minidb/minidb/sql/settings"
)

// version prints what this binary was built from.
func version(_ context.Context, c *command, args []string) error {
	if err := c.parseFlags(c.flags(), args); err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo()
	fmt.Println(describeBuild(info))
	return nil
}

// describeBuild is one line: the module's version, the commit, and the version that the server
// reports to clients.
func describeBuild(info *debug.BuildInfo) string {
	release, commit := releaseOf(info)
	if commit != "" {
		commit = ", commit " + commit
	}
	return fmt.Sprintf("minidb %s%s, server_version %s, %s %s/%s", release, commit,
		settings.ServerVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// releaseOf returns the module's version, and the commit if it is known.
func releaseOf(info *debug.BuildInfo) (release, commit string) {
	release = "(devel)"
	if info != nil {
		if info.Main.Version != "" {
			release = info.Main.Version
		}
		modified := ""
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = " with changes"
			}
		}
		if commit != "" {
			commit += modified
		}
	}
	return release, commit
}
