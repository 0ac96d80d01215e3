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
	"strconv"
	"strings"
	"time"

	"torpor.dev/torpor/native/internal/selfline"
)

const usage = `usage: torpor whoami [--json]                which sandbox this is, and which child of which fork
       torpor pause [--wake-after 2h] [--files-only] [--json]
                                             pause this sandbox: goes on when it is resumed, at the latest after that time
       torpor snapshot [NAME] [--files-only] [--json]
                                             keep the state of this sandbox: goes on here, and in what is made from it
       torpor wake-url [--json]              an address by which anybody who has it resumes this sandbox
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

// verbs of the command, as the daemon calls them.
var verbs = map[string]string{"whoami": "whoami", "pause": "pause", "fork": "fork", "snapshot": "snapshot", "wake-url": "wake"}

func parse(word string, args []string) (request selfline.Request, asJSON bool, err error) {
	verb, known := verbs[word]
	if !known {
		verb = word // the daemon refuses it by name
	}
	flags := flag.NewFlagSet(word, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	options := map[string]any{}
	flags.BoolVar(&asJSON, "json", false, "")
	if verb == "pause" || verb == "fork" || verb == "snapshot" {
		flags.BoolFunc("files-only", "", func(string) error { options["memory"] = false; return nil })
	}
	if verb == "pause" {
		flags.Func("wake-after", "", func(text string) error {
			after, err := duration(text)
			options["wakeAfterMs"] = after.Milliseconds()
			return err
		})
	}
	if verb == "fork" {
		options["count"] = 1
		flags.Func("n", "", func(text string) (err error) { options["count"], err = strconv.Atoi(text); return err })
		flags.Func("name", "", func(name string) error { options["name"] = name; return nil })
	}
	if err = flags.Parse(args); err != nil {
		return request, asJSON, err
	}
	rest := flags.Args()
	if verb == "snapshot" && len(rest) > 0 {
		options["name"] = rest[0]
		if err = flags.Parse(rest[1:]); err != nil { // options may follow the name
			return request, asJSON, err
		}
		rest = flags.Args()
	}
	if len(rest) > 0 {
		return request, asJSON, fmt.Errorf("%q is too much", rest[0])
	}
	request = selfline.Request{Verb: verb}
	request.Options, err = json.Marshal(options)
	return request, asJSON, err
}

// duration knows days too, which is what one waits for a person.
func duration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		count, err := strconv.ParseFloat(days, 64)
		return time.Duration(count * 24 * float64(time.Hour)), err
	}
	return time.ParseDuration(text)
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
	Path      string `json:"path"`
	Snapshot  struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"snapshot"`
	Children []struct {
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
	if verb == "wake" {
		fmt.Fprintln(to, r.Path)
		return nil
	}
	if verb == "snapshot" && r.Snapshot.ID != "" {
		fmt.Fprintf(to, "snapshot %s %s\n", r.Snapshot.ID, r.Snapshot.Name)
		return nil
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
