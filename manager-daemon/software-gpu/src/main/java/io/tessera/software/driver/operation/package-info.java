/** What streams and graphs can be told to do, one operation a file. */
package io.tessera.software.driver.operation;
