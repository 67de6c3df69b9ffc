import { execa } from 'execa';

/**
 * Network namespaces of a client and of nodes, with a router between them that can drop packets.
 */
export interface TestNetwork {
  /** Command prefixes to run a command on that side. */
  client: readonly string[];
  nodes: readonly string[];
  /** Addresses by the name of the node. */
  addresses: ReadonlyMap<string, string>;
  /** Drops all packets from and to these nodes, without an error. */
  drop(nodes: readonly string[]): Promise<void>;
  /** Delivers their packets again. */
  pass(nodes: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Networks in 198.18.0.0/15, which is reserved for network tests (RFC 2544). At most 250 nodes. */
const CLIENT = '198.18.0';
const NODES = '198.18.1';

/**
 * Creates the network. The nodes share a namespace, each with its own address. Routing rules, which
 * every kernel has, drop packets on the router: in the sender's own namespace, a rule would report
 * an error to the sender.
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
    // The links vanish with the namespaces.
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

/** Returns the router's commands for a link. */
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
