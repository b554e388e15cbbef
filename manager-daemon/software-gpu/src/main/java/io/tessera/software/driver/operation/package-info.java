/** Operations of streams and graphs, one operation a file. */
package io.tessera.software.driver.operation;
