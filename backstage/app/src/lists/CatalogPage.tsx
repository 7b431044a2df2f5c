import { SupportButton } from '@backstage/core-components';
import {
  configApiRef,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { catalogTranslationRef } from '@backstage/plugin-catalog';
import { EntityListProvider } from '@backstage/plugin-catalog-react';
import { Container, Header } from '@backstage/ui';
import type { ReactNode } from 'react';
import { ListContent } from './ListContent';

/** The catalog's index, of Backstage's parts. */
export const CatalogPage = (props: { filters: ReactNode }) => {
  const { t } = useTranslationRef(catalogTranslationRef);
  const orgName =
    useApi(configApiRef).getOptionalString('organization.name') ?? 'Backstage';
  return (
    <EntityListProvider pagination>
      <Header
        title={t('indexPage.title', { orgName })}
        customActions={
          <SupportButton>{t('indexPage.supportButtonContent')}</SupportButton>
        }
      />
      <Container>
        <ListContent filters={props.filters} />
      </Container>
    </EntityListProvider>
  );
};
