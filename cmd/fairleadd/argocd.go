package main

import (
	"github.com/fairlead-dev/fairlead/internal/app"
	"github.com/fairlead-dev/fairlead/internal/argo"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
)

// argoCD connects the server to Argo CDs.
func argoCD() *app.ArgoDialer {
	return &app.ArgoDialer{
		Dial: func(cfg instance.Config) (app.ArgoClient, error) {
			c, err := argo.Dial(cfg)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
		Reach: func(cfg instance.Config) (app.ArgoCluster, error) {
			c, err := argo.Reach(cfg)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	}
}
