import type { Entity } from '@backstage/catalog-model';
import type { catalogApiRef } from '@backstage/plugin-catalog-react';
import { catalogApiMock } from '@backstage/plugin-catalog-react/testUtils';

type CatalogApi = typeof catalogApiRef.T;

/** A component for tests. */
export const component = (name: string, description = 'old'): Entity => ({
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name, namespace: 'default', description },
  spec: { type: 'service', lifecycle: 'production', owner: 'payments' },
});

/** A catalog that tests may change, or let fail, and that notes its requests. */
export function openCatalog(...entities: Entity[]) {
  let current = catalogApiMock({ entities });
  const state = { fails: false, requests: [] as string[], before() {} };
  const api = new Proxy({} as CatalogApi, {
    get: (_, name) => {
      if (typeof Reflect.get(current, name) !== 'function') return undefined;
      return (...args: unknown[]) => {
        state.requests.push(String(name));
        state.before();
        if (state.fails) throw new Error('down');
        return Reflect.get(current, name).apply(current, args);
      };
    },
  });
  const put = (...all: Entity[]) => {
    current = catalogApiMock({ entities: all });
  };
  return { api, state, put };
}

/** What Fairlead tells when entities change. */
export const changed = (...refs: string[]) => ({
  __typename: 'CatalogChange',
  changed: refs,
  removed: [] as string[],
  many: false,
});
