package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// asksAgain is how often each request of a page is put again.
const asksAgain = 9

// uiAsk is a request of a page as the browser put it.
type uiAsk struct {
	Method, URL, Body string
	Headers           map[string]string
}

// again puts what each visit asked for until its content once more, without the
// browser.
func (u *uiBench) again(ctx context.Context, visits map[string]uiVisit) error {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for name, v := range visits {
		for _, a := range v.Asks {
			took := make([]time.Duration, 0, asksAgain)
			for range asksAgain {
				d, err := a.put(ctx, client)
				if err != nil {
					return err
				}
				took = append(took, d)
			}
			slices.Sort(took)
			v.Own += float64(took[asksAgain/2].Microseconds()) / 1e3
		}
		visits[name] = v
	}
	return nil
}

// put is how long a request takes to its answer's last byte.
func (a *uiAsk) put(ctx context.Context, client *http.Client) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, a.Method, a.URL, strings.NewReader(a.Body))
	if err != nil {
		return 0, err
	}
	for name, value := range a.Headers {
		if !strings.HasPrefix(name, ":") && name != "host" && name != "content-length" && name != "connection" {
			req.Header.Set(name, value)
		}
	}
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	took := time.Since(began)
	if closing := resp.Body.Close(); err == nil {
		err = closing
	}
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s answers %s", a.Method, a.URL, resp.Status)
	}
	return took, err
}
