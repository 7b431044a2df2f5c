import { ApiProvider, OAuth2 } from '@backstage/core-app-api';
import {
  IdentityProviders,
  ProxiedSignInPage,
  SignInPage,
  SignInProviderConfig,
} from '@backstage/core-components';
import {
  ApiBlueprint,
  ApiRef,
  BackstageIdentityApi,
  ErrorApi,
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
  errorApiRef,
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
import { useMemo } from 'react';

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

/** What Backstage's auth back end says of somebody whom its resolvers do not find. */
const notFound = /unable to resolve user identity/;

/** Says in the terms of who signs in what keeps them out. */
export function understood(error: Parameters<ErrorApi['post']>[0]) {
  if (!notFound.test(error.message)) return error;
  return {
    name: 'Not signed in',
    message:
      'The catalog does not know you: it holds no user with the address or name of the account that you have chosen. Choose another account, or have your team’s catalog file describe you as a User.',
  };
}

/** Has what goes wrong inside of it be told so that it is understood. */
const Understood = (props: { children: JSX.Element }) => {
  const errors = useApi(errorApiRef);
  const apis = useMemo(() => {
    const clear: ErrorApi = {
      post: (error, context) => errors.post(understood(error), context),
      error$: () => errors.error$(),
    };
    return {
      get: <T,>(ref: ApiRef<T>) =>
        ref.id === errorApiRef.id ? (clear as T) : undefined,
    };
  }, [errors]);
  return <ApiProvider apis={apis}>{props.children}</ApiProvider>;
};

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
    <Understood>
      <SignInPage {...props} providers={providersOf(names)} align="center" />
    </Understood>
  );
}

export const signInModule = createFrontendModule({
  pluginId: 'app',
  extensions: [
    oidcApi,
    SignInPageBlueprint.make({ params: { loader: async () => SignIn } }),
  ],
});
