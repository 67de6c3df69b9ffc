import { type Mutation, mutationsOf } from './mutation.ts';

/** Persistent paths of volumes: mostly invariants 9 and 12. */
export const storageLinks: readonly Mutation[] = [
  ...mutationsOf('src/storage/links.ts', [
    {
      id: 'path-derived-from-content',
      invariant: 12,
      breaks: 'A new volume has the path that udev derives from what a pod writes.',
      function: 'linkOf',
      find: '/dev/disk/by-id/stowage-',
      replace: '/dev/disk/by-uuid/',
    },
    {
      id: 'any-recorded-path-believed',
      invariant: 12,
      breaks: 'Whatever a status says is the persistent path of a volume.',
      function: 'earlierLink',
      find: 'isOne && path !== undefined',
      replace: 'path !== undefined',
    },
    {
      id: 'torn-look-is-astray',
      invariant: 9,
      breaks: 'A device that came while it was looked makes the volume Failed.',
      function: 'astray',
      find: 'if (other === undefined) return {};',
      replace: 'if (other === undefined) return { astray: String(link) };',
    },
    {
      id: 'astray-path-not-seen',
      invariant: 9,
      breaks: 'A path that leads to another device is nothing to tell of.',
      function: 'astray',
      find: 'if (link === undefined || (own',
      replace: 'if (link !== undefined || (own',
    },
  ]),
  ...mutationsOf('src/storage/udev.ts', [
    {
      id: 'block-device-has-any-priority',
      invariant: 12,
      breaks: 'A UUID that a pod writes wins over a device that is there.',
      function: 'ruleText',
      find: 'const own = earlierLink === undefined',
      replace: 'const own = earlierLink !== undefined',
    },
    {
      id: 'loop-of-kubelet-has-any-priority',
      invariant: 12,
      breaks: 'A UUID that a pod writes wins by the loop device that a kubelet puts on its volume.',
      function: 'ruleText',
      find: 'KUBELET_LOOP},',
      replace: 'KUBELET_LOOP},ENV{X}=="1",',
    },
    {
      id: 'earlier-path-has-no-priority',
      invariant: 12,
      breaks: 'A path below by-uuid goes to whichever device shows the UUID last.',
      function: 'ruleText',
      find: 'earlierLink === undefined ? rule',
      replace: 'earlierLink !== undefined ? rule',
    },
    {
      id: 'rule-outlives-volume',
      invariant: 6,
      breaks: 'A device that stays keeps the path of a volume that is gone.',
      function: 'dropLink',
      find: 'observed.link === undefined',
      replace: 'observed.link !== undefined',
    },
  ]),
  ...mutationsOf('src/storage/loopfile/file-loops.ts', [
    {
      id: 'moved-file-found-by-own-path-alone',
      invariant: 2,
      breaks: 'A file that was unmounted lazily is attached a second time.',
      function: 'refuseMoved',
      find: '[observed.link, observed.contentLink]',
      replace: '[observed.link]',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/attacher-detacher.ts', [
    {
      id: 'path-put-right-in-silence',
      invariant: 11,
      breaks: 'A path that led to another device is put right before anybody hears of it.',
      function: 'tryToAttach',
      find: 'planned.astray !== undefined && !isReported(volume, node)',
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/storage/device.ts', [
    {
      id: 'earlier-path-not-preferred',
      invariant: 12,
      breaks: 'A volume of the version before loses its path to what a pod writes.',
      function: 'preferDevice',
      find: "desired.earlierLink === undefined || desired.mode === 'Block'",
      replace: 'true',
    },
  ]),
  ...mutationsOf('src/controllers/volume/observation-times.ts', [
    {
      id: 'preferred-for-ever',
      invariant: 11,
      breaks: 'After a reboot, which removes the udev rules, they are not written again.',
      function: 'createObservationTimes',
      find: 'hasPath: (uid, node) => paths.get(uid) === hereOf(node),',
      replace: 'hasPath: (uid) => paths.has(uid),',
    },
  ]),
  ...mutationsOf('src/controllers/volume/maintain.ts', [
    {
      id: 'astray-path-is-ready',
      invariant: 9,
      breaks: 'A volume whose path leads to another device does not say so.',
      function: 'maintain',
      find: "'astray' in planned && planned.astray !== undefined",
      replace: 'false',
    },
  ]),
  ...mutationsOf('src/controllers/attachdetach/mark-uncertain.ts', [
    {
      id: 'astray-path-not-put-right',
      invariant: 11,
      breaks: 'Nobody looks at a device whose path was told to lead elsewhere.',
      function: 'onDeviceMissing',
      find: 'ready?.reason === READY_REASON.pathAstray',
      replace: 'false',
    },
  ]),
];
