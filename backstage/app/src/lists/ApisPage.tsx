import {
  Content,
  CreateButton,
  SupportButton,
} from '@backstage/core-components';
import {
  configApiRef,
  useApi,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import apiDocsPlugin, {
  apiDocsTranslationRef,
} from '@backstage/plugin-api-docs/alpha';
import {
  EntityKindPicker,
  EntityLifecyclePicker,
  EntityListProvider,
  EntityOwnerPicker,
  EntityTagPicker,
  EntityTypePicker,
  UserListPicker,
} from '@backstage/plugin-catalog-react';
import { HeaderPage } from '@backstage/ui';
import { ListContent } from './ListContent';

const filters = (
  <>
    <EntityKindPicker initialFilter="api" hidden />
    <EntityTypePicker />
    <UserListPicker initialFilter="all" />
    <EntityOwnerPicker />
    <EntityLifecyclePicker />
    <EntityTagPicker />
  </>
);

/**
 * The explorer of APIs, of Backstage's parts, which lists them by pages: that of
 * its plug-in fetches all there are, with their definitions.
 */
export const ApisPage = () => {
  const { t } = useTranslationRef(apiDocsTranslationRef);
  const register = useRouteRef(apiDocsPlugin.externalRoutes.registerApi);
  const orgName =
    useApi(configApiRef).getOptionalString('organization.name') ?? 'Backstage';
  return (
    <>
      <HeaderPage
        title={t('defaultApiExplorerPage.subtitle', { orgName })}
        customActions={
          <>
            <CreateButton
              title={t('defaultApiExplorerPage.createButtonTitle')}
              to={register?.()}
            />
            <SupportButton>
              {t('defaultApiExplorerPage.supportButtonTitle')}
            </SupportButton>
          </>
        }
      />
      <Content>
        <EntityListProvider pagination>
          <ListContent filters={filters} />
        </EntityListProvider>
      </Content>
    </>
  );
};
