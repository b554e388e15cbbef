/** Tests. */
package io.tessera.cli.segments;
