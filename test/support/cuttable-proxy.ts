import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Port on loopback that forwards to another port, through a network that can be cut. */
export interface CuttableProxy {
  port: number;
  /** Stops delivery in both directions without an error, as if all packets were dropped. */
  cut(): Promise<void>;
  /** Delivers the delayed data. */
  mend(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCuttableProxy(to: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;

  function forward(from: Socket, onto: Socket): void {
    sockets.add(from);
    from.on('data', (data) => onto.write(data));
    from.on('end', () => onto.end());
    from.on('error', () => onto.destroy());
    from.on('close', () => {
      sockets.delete(from);
      onto.destroy();
    });
    if (isCut) from.pause();
  }

  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    forward(client, upstream);
    forward(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    async mend() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
