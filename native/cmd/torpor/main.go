// Command torpor, in a sandbox's PATH, asks Torpor to do something with the sandbox that it runs in.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"torpor.dev/torpor/native/internal/selfline"
)

const usage = `usage: torpor whoami [--json]                which sandbox this is, and which child of which fork
       torpor pause [--files-only] [--json]  pause this sandbox: goes on when it is resumed
       torpor fork [-n NUMBER] [--name NAME] [--files-only] [--json]
                                             copy this sandbox: says "parent …" in it, and "child 2 of 3 …" in a child
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	request, asJSON, err := parse(os.Args[1], os.Args[2:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "torpor: %v\n%s", err, usage)
		os.Exit(2)
	}
	answer, err := ask(request)
	if err == nil && answer.Error != nil {
		err = errors.New(answer.Error.Message)
	}
	if err == nil {
		err = show(os.Stdout, request.Verb, answer.Result, asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "torpor:", err)
		if answer.Error != nil && answer.Error.Hint != "" {
			fmt.Fprintln(os.Stderr, "hint:", answer.Error.Hint)
		}
		os.Exit(1)
	}
}

func parse(verb string, args []string) (request selfline.Request, asJSON bool, err error) {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options := map[string]any{}
	flags.BoolVar(&asJSON, "json", false, "")
	if verb == "pause" || verb == "fork" {
		flags.BoolFunc("files-only", "", func(string) error { options["memory"] = false; return nil })
	}
	if verb == "fork" {
		count := flags.Int("n", 1, "")
		flags.Func("name", "", func(name string) error { options["name"] = name; return nil })
		defer func() { options["count"] = *count; request.Options, _ = json.Marshal(options) }()
	}
	if err = flags.Parse(args); err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("%q is too much", flags.Arg(0))
	}
	request = selfline.Request{Verb: verb}
	request.Options, _ = json.Marshal(options)
	return request, asJSON, err
}

// ask waits as long as it takes: a pause may last a week.
func ask(request selfline.Request) (answer selfline.Answer, err error) {
	conn, err := net.Dial("unix", selfline.SocketPath)
	if err != nil {
		return answer, fmt.Errorf("this is no sandbox whose guest takes requests: %w", err)
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return answer, err
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return answer, fmt.Errorf("the guest gave no answer: %w", err)
	}
	return answer, json.Unmarshal(line, &answer)
}

// result is what verbs answer with: who the sandbox is, or what became of it.
type result struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Parent    string `json:"parent"`
	ForkIndex int    `json:"forkIndex"`
	ForkCount int    `json:"forkCount"`
	Children  []struct {
		ID    string            `json:"id"`
		Name  string            `json:"name"`
		Error *selfline.Failure `json:"error"`
	} `json:"children"`
}

func show(to io.Writer, verb string, text json.RawMessage, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintf(to, "%s\n", text)
		return err
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil || verb == "pause" {
		return err
	}
	if verb == "fork" && r.Children != nil {
		return showChildren(to, r)
	}
	if r.ForkCount > 0 {
		fmt.Fprintf(to, "child %d of %d %s %s of %s\n", r.ForkIndex, r.ForkCount, r.ID, r.Name, r.Parent)
		return nil
	}
	fmt.Fprintf(to, "%s %s\n", r.ID, r.Name)
	return nil
}

func showChildren(to io.Writer, r result) error {
	var failed []error
	for _, child := range r.Children {
		if child.Error != nil {
			failed = append(failed, fmt.Errorf("child %s: %s", child.Name, child.Error.Message))
			continue
		}
		fmt.Fprintf(to, "parent of %s %s\n", child.ID, child.Name)
	}
	return errors.Join(failed...)
}
