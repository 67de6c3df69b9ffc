import { metadata, OURS, ours, PATHS } from '../builtin.ts';
import { DISKS, disk, MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const GOING = `${PATHS.namespaces}/going`;
const MAPS = `${GOING}/configmaps`;
const map = (name: string, more: object = {}) => ({ metadata: { name, ...more } });
const ending: Step[] = [
  ['POST', PATHS.namespaces, { metadata: { name: 'going', labels: OURS } }],
  ['POST', MAPS, map('held', { finalizers: ['example.com/f'] })],
  ['DELETE', GOING],
  { at: `${MAPS}/held`, has: { metadata: { deletionGracePeriodSeconds: 0 } } },
];
const other = (name: string) => map(name, { namespace: 'kube-system' });

export const namespaces = recorded(
  'namespaces',
  [MAPS, ours(PATHS.namespaces), PATHS.configMaps, DISKS],
  {
    'that is being deleted takes nothing new': [
      ...ending,
      ['POST', MAPS, map('new')],
      ['POST', MAPS, map('-')],
      ['POST', MAPS, { metadata: { generateName: 'x-' } }],
      ['POST', `${MAPS}?dryRun=All`, map('new')],
    ],
    'that is being deleted lets what is in it change': [
      ...ending,
      ['PATCH', `${MAPS}/held`, { metadata: { labels: { a: 'b' } } }, MERGE],
    ],
    'that is not there': [
      ['POST', `${PATHS.namespaces}/nowhere/configmaps`, map('new')],
      ['POST', `${PATHS.namespaces}/nowhere/configmaps`, map('-')],
    ],
    'that stay': [
      ['DELETE', `${PATHS.namespaces}/default`],
      ['DELETE', `${PATHS.namespaces}/kube-system?dryRun=All`],
      ['DELETE', `${PATHS.namespaces}/kube-public`],
    ],
    'other than that of the request': [
      ['POST', PATHS.configMaps, other('a')],
      ['POST', PATHS.configMaps, { metadata }],
      ([, made]) => [
        'PUT',
        `${PATHS.configMaps}/${made?.body.metadata.name}`,
        other(made?.body.metadata.name),
      ],
      ([, made]) => [
        'PATCH',
        `${PATHS.configMaps}/${made?.body.metadata.name}`,
        { metadata: { namespace: 'kube-system' } },
        MERGE,
      ],
    ],
    'of what is in none': [
      ['POST', DISKS, disk('a', { namespace: 'foo' })],
      ['PATCH', `${DISKS}/a`, { metadata: { namespace: 'foo', labels: { a: 'b' } } }, MERGE],
      ['PATCH', `${DISKS}/a`, { metadata: { namespace: 'foo' } }, MERGE],
    ],
  },
);
