/** Server and credentials of a request; TLS fields as in node:tls. */
export interface Credentials {
  /** Base URL. Default: the transport's. */
  server?: string;
  /** Proxy in front of the server. */
  proxy?: URL | undefined;
  headers: Record<string, string | string[]>;
  tls: {
    ca?: string | Buffer | undefined;
    cert?: string | Buffer | undefined;
    key?: string | Buffer | undefined;
    rejectUnauthorized?: boolean | undefined;
    servername?: string | undefined;
  };
}
