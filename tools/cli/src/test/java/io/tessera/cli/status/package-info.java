/** Tests. */
package io.tessera.cli.status;
