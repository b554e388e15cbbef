/** Tests. */
package io.tessera.cli.text;
