import { OAuth2 } from '@backstage/core-app-api';
import {
  IdentityProviders,
  ProxiedSignInPage,
  SignInPage,
  SignInProviderConfig,
} from '@backstage/core-components';
import {
  ApiBlueprint,
  BackstageIdentityApi,
  OpenIdConnectApi,
  ProfileInfoApi,
  SessionApi,
  atlassianAuthApiRef,
  bitbucketAuthApiRef,
  bitbucketServerAuthApiRef,
  configApiRef,
  createApiRef,
  createFrontendModule,
  discoveryApiRef,
  githubAuthApiRef,
  gitlabAuthApiRef,
  googleAuthApiRef,
  microsoftAuthApiRef,
  oauthRequestApiRef,
  oktaAuthApiRef,
  oneloginAuthApiRef,
  openshiftAuthApiRef,
  useApi,
  vmwareCloudAuthApiRef,
} from '@backstage/frontend-plugin-api';
import {
  SignInPageBlueprint,
  SignInPageProps,
} from '@backstage/plugin-app-react';

/** Sign-in at any issuer that speaks OpenID Connect. */
export const oidcAuthApiRef = createApiRef<
  OpenIdConnectApi & ProfileInfoApi & BackstageIdentityApi & SessionApi
>({ id: 'app.auth.oidc' });

const oidcApi = ApiBlueprint.make({
  name: 'oidc-auth',
  params: defineParams =>
    defineParams({
      api: oidcAuthApiRef,
      deps: {
        configApi: configApiRef,
        discoveryApi: discoveryApiRef,
        oauthRequestApi: oauthRequestApiRef,
      },
      factory: ({ configApi, discoveryApi, oauthRequestApi }) =>
        OAuth2.create({
          configApi,
          discoveryApi,
          oauthRequestApi,
          provider: { id: 'oidc', title: 'Single sign-on', icon: () => null },
          environment: configApi.getOptionalString('auth.environment'),
          defaultScopes: ['openid', 'profile', 'email'],
        }),
    }),
});

/** Where people sign in themselves, by the provider's name in Backstage. */
const providers: Record<
  string,
  Pick<SignInProviderConfig, 'title' | 'apiRef'>
> = {
  atlassian: { title: 'Atlassian', apiRef: atlassianAuthApiRef },
  bitbucket: { title: 'Bitbucket', apiRef: bitbucketAuthApiRef },
  bitbucketServer: {
    title: 'Bitbucket Server',
    apiRef: bitbucketServerAuthApiRef,
  },
  github: { title: 'GitHub', apiRef: githubAuthApiRef },
  gitlab: { title: 'GitLab', apiRef: gitlabAuthApiRef },
  google: { title: 'Google', apiRef: googleAuthApiRef },
  microsoft: { title: 'Microsoft', apiRef: microsoftAuthApiRef },
  oidc: { title: 'Single sign-on', apiRef: oidcAuthApiRef },
  okta: { title: 'Okta', apiRef: oktaAuthApiRef },
  onelogin: { title: 'OneLogin', apiRef: oneloginAuthApiRef },
  openshift: { title: 'OpenShift', apiRef: openshiftAuthApiRef },
  vmwareCloud: { title: 'VMware Cloud', apiRef: vmwareCloudAuthApiRef },
};

/** Makes what Backstage's page needs of the providers' names. */
export function providersOf(names: string[]): IdentityProviders {
  return names.map(name => {
    if (name === 'guest') {
      return name;
    }
    if (!providers[name]) {
      throw new Error(
        `signIn.providers names ${name}, which does not go together with others; those that do are guest, ${Object.keys(
          providers,
        ).join(', ')}`,
      );
    }
    const { title, apiRef } = providers[name];
    return { id: name, title, apiRef, message: `Sign in with ${title}` };
  });
}

/**
 * Has people sign in with what `signIn.providers` names. One that asks nothing
 * of them, as the guest or a proxy in front that has signed them in, is not
 * asked about.
 */
export function SignIn(props: SignInPageProps) {
  const names = useApi(configApiRef).getOptionalStringArray(
    'signIn.providers',
  ) ?? ['guest'];
  if (names.length === 1 && !providers[names[0]]) {
    return <ProxiedSignInPage {...props} provider={names[0]} />;
  }
  return (
    <SignInPage {...props} providers={providersOf(names)} align="center" />
  );
}

export const signInModule = createFrontendModule({
  pluginId: 'app',
  extensions: [
    oidcApi,
    SignInPageBlueprint.make({ params: { loader: async () => SignIn } }),
  ],
});
