// BoutiqueDB
