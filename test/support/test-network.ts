import { execa } from 'execa';

/** A client, nodes, and between them a router that can drop packets: network namespaces of their own, and no other's. */
export interface TestNetwork {
  /** Commands that become the one that is appended to them, on that side. */
  client: readonly string[];
  nodes: readonly string[];
  /** Of each node, by its name. */
  addresses: ReadonlyMap<string, string>;
  /** What goes to these nodes, or comes from them, is lost on the way, and nobody is told. */
  drop(nodes: readonly string[]): Promise<void>;
  /** The reverse. */
  pass(nodes: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** In 198.18.0.0/15, which is for tests of networks (RFC 2544). At most 250 nodes. */
const CLIENT = '198.18.0';
const NODES = '198.18.1';

/**
 * The nodes share a namespace, each with an address of its own. Packets are dropped by routing rules, which every kernel
 * has, in the middle: whoever sends a packet into a rule of its own namespace is told that it went nowhere.
 */
export async function createTestNetwork(nodes: readonly string[]): Promise<TestNetwork> {
  const nameOf = (side: string) => `stowage-${process.pid}-${side}`;
  const sides = ['client', 'router', 'nodes'];
  const addresses = new Map(nodes.map((node, index) => [node, `${NODES}.${index + 2}`]));
  const enter = (side: string) => ['nsenter', `--net=/run/netns/${nameOf(side)}`];
  const ip = (side: string, commands: readonly string[]) =>
    execa('ip', ['-netns', nameOf(side), '-batch', '-'], { input: commands.join('\n') });
  const rules = (verb: 'add' | 'del', of: readonly string[]) =>
    ip(
      'router',
      of.flatMap((node) =>
        ['from', 'to'].map((way) => `rule ${verb} ${way} ${addresses.get(node)} blackhole`),
      ),
    );

  async function remove(): Promise<void> {
    // The links go with them.
    for (const side of sides)
      await execa('ip', ['netns', 'delete', nameOf(side)], { reject: false });
  }

  try {
    for (const side of sides) await execa('ip', ['netns', 'add', nameOf(side)]);
    await ip('router', [
      ...link('client', nameOf('client'), CLIENT),
      ...link('nodes', nameOf('nodes'), NODES),
    ]);
    await ip('client', end(CLIENT, [`${CLIENT}.2`]));
    await ip('nodes', end(NODES, [...addresses.values()]));
    const [program = '', ...args] = enter('router');
    await execa(program, [...args, 'sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward']);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    client: enter('client'),
    nodes: enter('nodes'),
    addresses,
    async drop(of) {
      await rules('add', of);
    },
    async pass(of) {
      await rules('del', of);
    },
    remove,
  };
}

/** On the router. */
const link = (name: string, netns: string, network: string) => [
  `link add ${name} type veth peer name router netns ${netns}`,
  `address add ${network}.1/24 dev ${name}`,
  `link set ${name} up`,
];

const end = (network: string, addresses: readonly string[]) => [
  ...addresses.map((address) => `address add ${address}/24 dev router`),
  'link set router up',
  `route add default via ${network}.1`,
];
