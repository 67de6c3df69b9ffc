import { describeCrossNamespace, gate } from '../kep/cross-namespace.ts';
import { startBareScene } from './bare-node.ts';

describeCrossNamespace((isOn) =>
  startBareScene({
    apiServerFlags: [gate(isOn)],
    components: ['snapshot-crds', 'referencegrant-crd', 'populator-crds'],
    watchFlags: [gate(isOn)],
  }),
);
