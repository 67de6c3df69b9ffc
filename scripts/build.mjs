// Bundles src/ into dist/ or the given directory: one entry, split at dynamic imports, so that
// `--help` loads little.
import { rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { loaders } from './loaders/esbuild.mjs';
import { noticesOf } from './notices.mjs';
import { slimPackages } from './slim/plugin.mjs';

const outdir = process.argv[2] ?? 'dist';
await rm(outdir, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { main: 'src/main.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Names stay, for stack traces and logs: restoring them (keepNames) costs a call per closure.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: false,
  metafile: true,
  plugins: [loaders, slimPackages],
  outExtension: { '.js': '.mjs' },
  // Some dependencies are CommonJS and call require, which an ES module lacks.
  banner: {
    js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
  },
  logLevel: 'warning',
});
// For the test that shows what `--help` can reach.
await writeFile(`${outdir}/meta.json`, JSON.stringify(metafile));
// Licenses of bundled packages require copies to include them.
await writeFile(`${outdir}/THIRD-PARTY-NOTICES`, await noticesOf(metafile));
