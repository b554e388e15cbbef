package io.tessera.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages about a tenant between manager and executor keep their contents. */
class TermsTextTest {
    @Test
    void termsComeBackAsTheyWere() {
        TenantTerms terms = new TenantTerms(7, -3, TenantClass.INTERACTIVE, 0.125, 0.00001, 200_000_000L);
        assertEquals(terms, TermsText.parse(TermsText.of(terms)));
        assertEquals(TenantTerms.DEFAULT, TermsText.parse(TermsText.of(TenantTerms.DEFAULT)));
    }

    @Test
    void whatIsNotNamedIsAsForAnyTenant() {
        assertEquals(TenantTerms.DEFAULT.withWeight(3), TermsText.parse("weight=3"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "weight", "weight=0", "weight=a", "height=3", "class=idle", "hardCap=2", "hardCap=NaN", "weight=1=2",
            "weight=1  priority=2"})
    void whatIsNoTermsIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> TermsText.parse(text));
    }
}
