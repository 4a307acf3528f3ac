package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func build(t *testing.T) string {
	bin := filepath.Join(t.TempDir(), "webindex")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

func TestTheIndexIsRightAfterKills(t *testing.T) {
	bin := build(t)
	for name, args := range map[string][]string{
		"killed":        {"-documents", "200", "-recrawls", "150", "-kill", "3"},
		"over the wire": {"-documents", "200", "-recrawls", "50", "-wire"},
	} {
		t.Run(name, func(t *testing.T) {
			args = append(args, "-verify", "-data", filepath.Join(t.TempDir(), "data"))
			out, err := exec.CommandContext(t.Context(), bin, args...).CombinedOutput()
			require.NoError(t, err, string(out))
			for _, table := range []string{"pages", "anchors", "clusters", "anchors of clusters",
				"dependencies", "rendered", "serving table"} {
				require.Regexp(t, `(?m)^  `+table+` +[1-9]\d* rows, 0 differences$`, string(out))
			}
			require.Contains(t, string(out), "problems found by check: 0\n")
		})
	}
}

func TestAFolderIsIndexed(t *testing.T) {
	bin, dir := build(t), t.TempDir()
	for name, text := range map[string]string{
		"index.html":      `<title>Home</title><a href="a/one.html">first</a> <img src=logo.png>`,
		"a/one.html":      `<p>The same words <a href="../index.html">home</a>`,
		"a/b/copy.html":   `<b>The same</b> words <a href="/index.html">home</a>`,
		"a/b/broken.html": "<<a href='http://[::1/'>\xff</b <a href=copy.html>not <i>closed",
		"logo.png":        "\x00\x01",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	out, err := exec.CommandContext(t.Context(), bin, "-folder", dir, "-verify").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "compared with a recomputation from 4 documents:\n")
	require.Regexp(t, `serving table +3 rows, 0 differences`, string(out))
}

func TestParse(t *testing.T) {
	p := parse("http://x.example/dir/page.html", 1, `<html><head><title> A  title </title>
		<link rel="stylesheet" href="/style.css"><link rel=icon href=icon.png>
		<style>a { color: red }</style></head><body>Text &amp; more
		<a href="other.html#part">a <b>word</b></a> <a href="other.html">a word</a>
		<a href="mailto:a@x.example">mail</a><img src="../logo.png"><script src="s.js">x</script>`)
	require.Equal(t, "A title", p.title)
	require.Equal(t, map[link]int64{{"http://x.example/dir/other.html", "a word"}: 2}, p.links)
	require.Equal(t, []string{"http://x.example/dir/s.js", "http://x.example/logo.png",
		"http://x.example/style.css"}, p.resources)
	same := parse("http://y.example/", 2,
		"<i>A title</i> Text &amp; more a word <p>a  word mail")
	require.Equal(t, p.hash, same.hash, "markup and spaces are no content")
}
