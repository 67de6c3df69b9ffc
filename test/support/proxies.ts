import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Proxy on loopback. It resolves every name as loopback. */
export interface TestProxy {
  /** 0 for a proxy on a Unix socket. */
  port: number;
  /** Hosts and ports, or URLs, that were asked for. */
  seen: string[];
  stop(): Promise<void>;
}

async function listen(server: Server, seen: string[], path?: string): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path });
  await once(server, 'listening');
  return {
    port: path === undefined ? (server.address() as AddressInfo).port : 0,
    seen,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function join(client: Socket, port: number, ready: () => void): void {
  const upstream = connect(port, '127.0.0.1', ready);
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
}

/**
 * Starts an HTTP proxy: CONNECT, and plain requests by absolute URL.
 * @param options `path`: of a Unix socket to listen on instead of a port
 */
export function startHttpProxy(
  options: { credentials?: string; status?: number; silent?: boolean; path?: string } = {},
): Promise<TestProxy> {
  const seen: string[] = [];
  const expected =
    options.credentials && `Basic ${Buffer.from(options.credentials).toString('base64')}`;
  const server = createHttpServer((incoming, response) => {
    const url = new URL(incoming.url ?? '');
    seen.push(`${incoming.method} ${url.href}`);
    const { pathname, search, port } = url;
    const onward = request(
      {
        host: '127.0.0.1',
        port,
        path: pathname + search,
        method: incoming.method,
        headers: incoming.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    seen.push(incoming.url ?? '');
    if (options.silent === true) return;
    const allowed = incoming.headers['proxy-authorization'] === expected;
    const status = options.status ?? (allowed ? 200 : 407);
    if (status !== 200) socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    else {
      const port = Number(incoming.url?.split(':').at(-1));
      join(socket as Socket, port, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    }
  });
  return listen(server, seen, options.path);
}

/** Starts a SOCKS5 proxy (RFC 1928, RFC 1929) that only knows CONNECT. */
export function startSocksProxy(
  options: { credentials?: string; silent?: boolean } = {},
): Promise<TestProxy> {
  const seen: string[] = [];
  const server = createServer((socket) => {
    let state: 'hello' | 'login' | 'request' = 'hello';
    const onData = (data: Buffer): void => {
      if (options.silent === true) return;
      if (state === 'hello') {
        state = options.credentials === undefined ? 'request' : 'login';
        const method = options.credentials === undefined ? 0 : 2;
        socket.write(Buffer.from([5, data.subarray(2).includes(method) ? method : 0xff]));
      } else if (state === 'login') {
        const user = data.subarray(2, 2 + (data[1] ?? 0)).toString();
        const password = data.subarray(3 + user.length).toString();
        const isRight = `${user}:${password}` === options.credentials;
        state = 'request';
        socket.write(Buffer.from([1, isRight ? 0 : 1]));
      } else {
        const isName = data[3] === 3;
        const host = isName
          ? data.subarray(5, 5 + (data[4] ?? 0)).toString()
          : [...data.subarray(4, 8)].join('.');
        const port = data.readUInt16BE(data.length - 2);
        seen.push(`${host}:${port}`);
        socket.off('data', onData);
        socket.pause();
        const granted = Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]);
        join(socket, port, () => socket.write(granted));
      }
    };
    socket.on('data', onData);
  });
  return listen(server, seen);
}
