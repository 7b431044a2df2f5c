package argo

import (
	"context"
	"net/url"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fairlead-dev/fairlead/gitops"
)

var _ gitops.Listing = (*Client)(nil)

// maxListing is the largest list of applications in bytes that is read: some
// ten thousand.
const maxListing = 512 << 20

// ListApplications gives all that the account may get, by one call. Argo CD's list
// gives applications in whole: what is not named in outline ends here, and so do
// messages. A selector that cannot be read picks none.
func (c *Client) ListApplications(ctx context.Context, selectors []string) ([]gitops.ListedApplication, error) {
	got, err := c.apps.List(ctx, &application.ApplicationQuery{}, grpc.MaxCallRecvMsgSize(maxListing))
	if err != nil {
		return nil, c.unreadable("listing all applications", err)
	}
	pick := map[string]labels.Selector{}
	for _, text := range selectors {
		if s, err := labels.Parse(text); err == nil {
			pick[text] = s
		}
	}
	out := make([]gitops.ListedApplication, 0, len(got.Items))
	for i := range got.Items {
		app := &got.Items[i]
		one := gitops.ListedApplication{Application: *outline(app, nil), At: gitops.AppName{Name: app.Name, Namespace: app.Namespace}, Images: summary(app)}
		for text, s := range pick {
			if s.Matches(labels.Set(app.Labels)) {
				one.Selectors = append(one.Selectors, text)
			}
		}
		out = append(out, one)
		*app = v1alpha1.Application{} // a long list need not be there twice
	}
	return out, nil
}

// summary are the images that Argo CD has seen run.
func summary(app *v1alpha1.Application) []gitops.DeployedImage {
	out := make([]gitops.DeployedImage, 0, len(app.Status.Summary.Images))
	for _, ref := range app.Status.Summary.Images {
		out = append(out, imageOf(ref))
	}
	return distinct(out)
}

// plainURL is a URL without the user's name and password.
func plainURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = nil
	return u.String()
}
