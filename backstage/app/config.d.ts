export interface Config {
  /** How people sign in. */
  signIn?: {
    /**
     * The providers of Backstage's auth back end that people may choose from;
     * guest if nothing is said. One alone may also be that of a proxy in front,
     * as oauth2Proxy.
     *
     * @deepVisibility frontend
     */
    providers?: string[];
  };
}
