import { createServer } from 'node:net';

/** Ports of 127.0.0.1 that nothing listens on now, each another one. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = servers.map(async (server) => {
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    return (server.address() as { port: number }).port;
  });
  const found = await Promise.all(ports);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return found;
}
