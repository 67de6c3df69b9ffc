import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'undici';
import { parse } from 'yaml';

export interface Answer {
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes.
  body: any;
  headers: IncomingHttpHeaders;
}

/**
 * Returns a client for plain requests to a server, with the credentials of its kubeconfig (YAML).
 */
export function clientFor({ url, kubeconfig }: { url: string; kubeconfig: string }) {
  const { clusters, users } = parse(kubeconfig);
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
  // Otherwise undici requires a certificate for any Host that a test sends.
  const dispatcher = new Agent({ connect: { ca, checkServerIdentity: () => undefined } });
  const authorization = `Bearer ${users[0].user.token}`;
  const open = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    request(url + path, {
      method,
      dispatcher,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    async request(...call: Parameters<typeof open>): Promise<Answer> {
      const response = await open(...call);
      const text = await response.body.text();
      const isJson = response.headers['content-type'] === 'application/json';
      return {
        code: response.statusCode,
        body: isJson ? JSON.parse(text) : text,
        headers: response.headers,
      };
    },
    /** Yields the events of a watch until the server ends it. */
    async *watch(path: string, headers: Record<string, string> = {}) {
      const response = await open('GET', path, undefined, headers);
      let rest = '';
      for await (const chunk of response.body) {
        const lines = `${rest}${Buffer.from(chunk)}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line);
      }
    },
    close: () => dispatcher.destroy(),
  };
}
export type Client = ReturnType<typeof clientFor>;
