// A minimal app of the new front-end system: it finds Fairlead's plug-in among
// its packages.
import '@backstage/cli/asset-types';
import { ProxiedSignInPage } from '@backstage/core-components';
import { createApp } from '@backstage/frontend-defaults';
import { createFrontendModule } from '@backstage/frontend-plugin-api';
import { SignInPageBlueprint } from '@backstage/plugin-app-react';
import '@backstage/ui/css/styles.css';
import ReactDOM from 'react-dom/client';

const signIn = SignInPageBlueprint.make({
  params: {
    loader: async () => props =>
      <ProxiedSignInPage {...props} provider="guest" />,
  },
});
const app = createApp({
  features: [createFrontendModule({ pluginId: 'app', extensions: [signIn] })],
});

ReactDOM.createRoot(document.getElementById('root')!).render(app.createRoot());
