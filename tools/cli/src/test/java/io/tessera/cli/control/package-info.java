/** Tests. */
package io.tessera.cli.control;
