/** Where a request goes, and what it is authenticated with; TLS fields as in node:tls. */

export interface Credentials {
  /** The base URL; default: the transport's. */
  server?: string;
  headers: Record<string, string | string[]>;
  tls: {
    ca?: string | Buffer | undefined;
    cert?: string | Buffer | undefined;
    key?: string | Buffer | undefined;
    rejectUnauthorized?: boolean | undefined;
    servername?: string | undefined;
  };
}
