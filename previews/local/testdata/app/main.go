// Command app is a service to preview: it tells about itself what tests ask.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Join(os.Environ(), "\n")) })
	mux.HandleFunc("GET /fds", fds)
	mux.HandleFunc("GET /read", func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(r.FormValue("path"))
		fmt.Fprintf(w, "%s %v", data, err)
	})
	mux.HandleFunc("GET /run", func(w http.ResponseWriter, r *http.Request) {
		out, err := exec.CommandContext(r.Context(), "/bin/sh", "-c", r.FormValue("sh")).CombinedOutput()
		fmt.Fprintf(w, "%s%v", out, err)
	})
	mux.HandleFunc("GET /daemon", daemon)
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		for range 1000 {
			fmt.Fprintln(w, "on and on")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		text, _ := os.ReadFile("text")
		fmt.Fprintf(w, "%s for %s", text, r.Host)
	})
	fmt.Println("serving", os.Args[1:])
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), mux); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func fds(w http.ResponseWriter, _ *http.Request) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil {
			fmt.Fprintln(w, e.Name(), to)
		}
	}
}

// daemon leaves a process behind in the way of daemons: in a session of its
// own, its parent gone, without an environment, elsewhere, deaf to signals.
func daemon(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("/bin/sh", "-c", `cd /; trap "" TERM HUP INT; exec 0</dev/null >/dev/null 2>&1; (trap "" TERM HUP INT; exec sleep `+r.FormValue("for")+`) & `)
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	fmt.Fprint(w, cmd.Run())
}
