/** Commands that move a tenant's memory off the GPUs and back. */
package io.tessera.cli.residency;
