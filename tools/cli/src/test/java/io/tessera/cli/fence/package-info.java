/** The offline fencer: reports, files, the cache, progress, trust. */
package io.tessera.cli.fence;
