import { describeSuites } from '../api-server/server.ts';
import { KUBECTL_SUITES, SUITES } from '../api-server/suites.ts';
import { startControlPlane } from './control-plane/control-plane.ts';

/** Those for which the sandbox has stand-ins: what else acts would write between a test's requests. */
const CONTROLLERS = [
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
];

describeSuites({ ...SUITES, ...KUBECTL_SUITES }, () => startControlPlane({ controllers: CONTROLLERS }));
