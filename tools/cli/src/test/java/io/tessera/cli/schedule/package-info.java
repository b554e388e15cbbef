/** Tests. */
package io.tessera.cli.schedule;
