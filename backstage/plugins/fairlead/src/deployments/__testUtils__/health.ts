const live = {
  __typename: 'DeployedState',
  revision: 'c'.repeat(40),
  at: '2026-11-30T08:00:00Z',
  images: [
    {
      __typename: 'DeployedImage',
      name: 'registry.shop.test/checkout',
      tag: '1.4.0',
      digest: null,
      commit: 'd'.repeat(40),
      source: 'shop/checkout',
      builtBy: 'actions',
    },
  ],
};

/** An environment that is well. */
export const healthy = {
  __typename: 'DeploymentHealth',
  service: 'component:default/checkout',
  environment: 'staging',
  application: 'main/checkout-staging',
  verdict: 'healthy',
  grounds: ['all resources are healthy and as wanted'],
  since: '2026-11-30T08:01:00Z',
  observedAt: '2026-11-30T09:00:00Z',
  desired: live,
  live,
  sync: {
    __typename: 'SyncState',
    status: 'Synced',
    comparedAt: '2026-11-30T08:59:00Z',
    automated: true,
  },
  resources: [] as object[],
  drift: [] as string[],
  operation: null as object | null,
  history: [] as object[],
  slo: [] as object[],
  alerts: [] as object[],
  omitted: [],
};

/** One that is not. */
export const degraded = {
  ...healthy,
  environment: 'production',
  verdict: 'degraded',
  grounds: ['Deployment/checkout is Degraded'],
  desired: {
    ...live,
    revision: 'e'.repeat(40),
    images: [{ ...live.images[0], tag: '1.6.0-crashes' }],
  },
  sync: { ...healthy.sync, status: 'OutOfSync', automated: false },
  resources: [
    {
      __typename: 'UnwellResource',
      resource: 'Deployment/checkout',
      health: 'Degraded',
      sync: null,
      message: 'CrashLoopBackOff: back-off restarting',
    },
  ],
  drift: ['ConfigMap/checkout'],
  operation: {
    __typename: 'DeploymentOperation',
    phase: 'Failed',
    message: 'one or more objects failed to apply',
    revision: 'e'.repeat(40),
    startedAt: '2026-11-30T08:00:00Z',
    finishedAt: '2026-11-30T08:00:10Z',
    by: null,
  },
  history: [
    {
      __typename: 'PastDeployment',
      revision: 'c'.repeat(40),
      at: '2026-11-29T08:00:00Z',
      by: 'user:default/sam',
    },
  ],
  slo: [
    {
      __typename: 'ObjectiveState',
      name: 'availability',
      objective: 99.9,
      window: '30d',
      state: 'burning',
      budgetLeft: 41.26,
      burn: 14.44,
      why: null,
    },
    {
      __typename: 'ObjectiveState',
      name: 'latency',
      objective: 95,
      window: null,
      state: 'missed',
      budgetLeft: -12,
      burn: 0,
      why: null,
    },
    {
      __typename: 'ObjectiveState',
      name: 'freshness',
      objective: 95,
      window: null,
      state: 'unknown',
      budgetLeft: null,
      burn: null,
      why: 'Prometheus knows nothing of it',
    },
  ],
  alerts: [
    {
      __typename: 'FiringAlert',
      name: 'HighErrorRate',
      severity: 'page',
      summary: 'a third fails',
      since: '2026-11-30T08:05:00Z',
      runbook: 'https://wiki.shop.test/high-error-rate',
    },
    {
      __typename: 'FiringAlert',
      name: 'Restarts',
      severity: null,
      summary: null,
      since: null,
      runbook: 'doc://checkout/docs/runbooks/restarts.md',
    },
  ],
};
