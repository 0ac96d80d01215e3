package main

import (
	"fmt"
	"os"
	"strconv"

	"torpor.dev/torpor/native/internal/trim"
)

// trimPool prints how many bytes are spare in the end. It ends with stdin, so that a daemon that is killed leaves nothing.
func trimPool(pool, file, keep string) error {
	bytes, err := strconv.ParseInt(keep, 10, 64)
	if err != nil {
		return err
	}
	endWith(os.Stdin)
	spare, err := trim.Down(pool, file, bytes)
	if err == nil {
		fmt.Println(spare)
	}
	return err
}
