export interface Config {
  fairlead?: {
    /**
     * Address of the Fairlead server as browsers reach it, such as
     * https://fairlead.example.com. Without it the plug-in asks Backstage's
     * proxy for /fairlead.
     * @visibility frontend
     */
    url?: string;
  };
}
