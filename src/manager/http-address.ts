import { StowageError } from '../api/errors.ts';

export interface HttpAddress {
  /** Address as the user wrote it. */
  text: string;
  /** Unset: all addresses of this machine. */
  host: string | undefined;
  /** 0: any free port. */
  port: number;
}

const ADDRESS = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]*)):([0-9]{1,5})$/;

/**
 * Parses `:8080`, `127.0.0.1:8080`, `localhost:8080` or `[::1]:8080`. Throws a StowageError for
 * anything else.
 */
export function parseHttpAddress(text: string): HttpAddress {
  const [, ipv6, host, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    throw new StowageError('usage', `--http-endpoint ${text}: not an address with a port`, {
      hint: 'Use a form such as :8080 or 127.0.0.1:8080; for an IPv6 address, [::1]:8080.',
    });
  }
  return { text, host: ipv6 || host || undefined, port };
}

/**
 * Returns the path of the metrics unchanged. Throws a StowageError for a path that no request could
 * reach.
 */
export function checkMetricsPath(path: string): string {
  if (!/^\/[A-Za-z0-9._~/-]*$/.test(path)) {
    throw new StowageError('usage', `--metrics-path ${path}: not a path`, {
      hint: 'Begin it with a slash, such as /metrics, and use only letters, digits and . _ ~ / -.',
    });
  }
  if (path === '/healthz' || path === '/readyz') {
    throw new StowageError('usage', `--metrics-path ${path}: the daemon serves its health there`, {
      hint: 'Choose another path, such as /metrics.',
    });
  }
  return path;
}
