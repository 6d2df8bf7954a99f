BxJ0ָ]J״³ÿAMהaZx3qpY™דל:•Jp
­oÞ}V1$Hׁ»ü•0—C/״]°Ùָ