/** Tests that compile and run what is generated. */
package io.tessera.autotalk.generate;
