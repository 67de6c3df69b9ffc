import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** The monitor of a running qemu (QEMU Machine Protocol). */
export interface Qmp {
  /** Executes a command. Throws qemu's response if it refuses the command. */
  execute(command: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Resolves at the next event of that name with these values in its data. */
  event(name: string, data: Readonly<Record<string, unknown>>): Promise<void>;
  close(): void;
}

interface Message {
  QMP?: unknown;
  return?: unknown;
  error?: { desc: string };
  event?: string;
  data?: Record<string, unknown>;
  id?: number;
}

/** Connects to the socket of qemu's option `-qmp unix:…`. */
export async function connectQmp(path: string): Promise<Qmp> {
  const socket = await connected(path);
  const answers = new Map<number, (answer: Message) => void>();
  const listeners = new Set<(message: Message) => void>();
  let count = 0;
  createInterface({ input: socket }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) answers.get(message.id)?.(message);
    else for (const listen of listeners) listen(message);
  });
  socket.on('close', () => {
    for (const answer of answers.values()) answer({ error: { desc: 'qemu has ended' } });
  });

  const qmp: Qmp = {
    async execute(command, args = {}) {
      const id = ++count;
      const answered = new Promise<Message>((resolve) => answers.set(id, resolve));
      socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
      const { return: result, error } = await answered;
      answers.delete(id);
      if (error !== undefined) throw new Error(`qemu refuses ${command}: ${error.desc}`);
      return result;
    },
    event: (name, data) =>
      new Promise((resolve) => {
        const listen = (message: Message) => {
          const matches = Object.entries(data).every(
            ([key, value]) => message.data?.[key] === value,
          );
          if (message.event !== name || !matches) return;
          listeners.delete(listen);
          resolve();
        };
        listeners.add(listen);
      }),
    close: () => socket.destroy(),
  };
  await qmp.execute('qmp_capabilities');
  return qmp;
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path, () => {
      socket.off('error', reject);
      // `close` reports its end.
      socket.on('error', () => {});
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
