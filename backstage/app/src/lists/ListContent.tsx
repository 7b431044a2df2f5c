import { CatalogTable } from '@backstage/plugin-catalog';
import { CatalogFilterLayout } from '@backstage/plugin-catalog-react';
import type { ReactNode } from 'react';
import { Settled } from './Settled';

const table = <CatalogTable />; // always the same, so only its context draws it

/** Filters and the list that they leave, as Backstage lays them out. */
export const ListContent = (props: { filters: ReactNode }) => (
  <CatalogFilterLayout>
    <CatalogFilterLayout.Filters>{props.filters}</CatalogFilterLayout.Filters>
    <CatalogFilterLayout.Content>
      <Settled>{table}</Settled>
    </CatalogFilterLayout.Content>
  </CatalogFilterLayout>
);
