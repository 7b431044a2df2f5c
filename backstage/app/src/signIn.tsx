import { ProxiedSignInPage } from '@backstage/core-components';
import { createFrontendModule } from '@backstage/frontend-plugin-api';
import { SignInPageBlueprint } from '@backstage/plugin-app-react';

/** Lets people in as the guest of the server, who needs no password. */
const page = SignInPageBlueprint.make({
  params: {
    loader: async () => props =>
      <ProxiedSignInPage {...props} provider="guest" />,
  },
});

export const signInModule = createFrontendModule({
  pluginId: 'app',
  extensions: [page],
});
